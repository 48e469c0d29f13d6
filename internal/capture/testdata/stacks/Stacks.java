// Threads that wait for known things in known places.
public class Stacks {
	static final Object lock = new Object();

	static void hold() throws Exception {
		synchronized (lock) {
			nap();
		}
	}

	static void nap() throws Exception {
		Thread.sleep(30);
	}

	static void want() {
		synchronized (lock) {
			burn(2);
		}
	}

	static double burn(int ms) {
		double x = 0;
		for (long end = System.nanoTime() + ms * 1_000_000L; System.nanoTime() < end;) {
			for (int i = 0; i < 1000; i++) {
				x += Math.sqrt(x + i);
			}
		}
		return x;
	}

	static void late() throws Exception {
		Thread.sleep(30);
	}

	interface Work {
		void run() throws Exception;
	}

	static void forever(String name, Work work) {
		Thread t = new Thread(() -> {
			try {
				while (true) {
					work.run();
					Thread.sleep(3); // or the others would never get the lock
				}
			} catch (Exception e) {
				throw new RuntimeException(e);
			}
		}, name);
		t.setDaemon(true);
		t.start();
	}

	static void deep(int depth) throws Exception {
		if (depth == 0) {
			Thread.sleep(2);
		} else {
			deep(depth - 1);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; args.length > 0 && i < 32; i++) {
			forever("crowd", () -> deep(60));
		}
		forever("holder", Stacks::hold);
		forever("waiter", Stacks::want);
		System.in.read();
		forever("late", Stacks::late);
		System.in.read();
		System.in.read();
	}
}
