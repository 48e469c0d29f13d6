import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A loop that leaves each request to a thread of an executor, which sleeps and gives it back for
 * the loop to answer, as Vert.x and Netty do with work that blocks. Fixed: it does not sleep. PORT
 * is in the environment.
 */
public class LoopWork {
    static final boolean FIXED = System.getenv("FIXED") != null;
    static final byte[] ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n".getBytes(StandardCharsets.US_ASCII);

    static void nap() {
        try {
            if (!FIXED) {
                Thread.sleep(12);
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    /** Whether what was read has the end of a head. */
    static boolean whole(ByteBuffer in) {
        return new String(in.array(), 0, in.position(), StandardCharsets.US_ASCII).contains("\r\n\r\n");
    }

    public static void main(String[] args) throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))));
        server.configureBlocking(false);
        Selector selector = Selector.open();
        server.register(selector, SelectionKey.OP_ACCEPT);
        ExecutorService workers = Executors.newFixedThreadPool(8);
        ConcurrentLinkedQueue<SocketChannel> done = new ConcurrentLinkedQueue<>();
        System.out.println("ready");
        while (true) {
            selector.select();
            for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isAcceptable()) {
                    SocketChannel taken = server.accept();
                    taken.configureBlocking(false);
                    taken.register(selector, SelectionKey.OP_READ, ByteBuffer.allocate(8192));
                    continue;
                }
                SocketChannel from = (SocketChannel) key.channel();
                ByteBuffer in = (ByteBuffer) key.attachment();
                if (from.read(in) < 0) {
                    from.close();
                } else if (whole(in)) {
                    in.clear();
                    workers.execute(() -> {
                        nap();
                        done.add(from);
                        selector.wakeup();
                    });
                }
            }
            for (SocketChannel to; (to = done.poll()) != null; ) {
                to.write(ByteBuffer.wrap(ANSWER));
            }
        }
    }
}
