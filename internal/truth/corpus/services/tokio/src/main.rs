//! A service of tasks that four threads share. A request /work?calls=2&delay=3000&flow=direct makes
//! so many calls to HTTP (address:port), on connections that are kept, and passes X-Request-Id on:
//! direct  one after the other
//! all     all at once
//! nap     one after the other, asleep for 3 ms between
//! few     one after the other, each behind a semaphore of three
//! spawn   one after the other, each in a task of its own
//! block   as direct, after 2 ms on a thread for work that blocks
use std::{env, io::{Error, ErrorKind}, sync::Arc, time::Duration};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};

type Conn = BufStream<TcpStream>;

struct Peer {
    address: String,
    kept: Mutex<Vec<Conn>>,
    few: Semaphore,
}

struct Head {
    first: String,
    id: String,
    length: usize,
}

async fn head(conn: &mut Conn) -> Result<Option<Head>, Error> {
    let mut h = Head { first: String::new(), id: String::new(), length: 0 };
    if conn.read_line(&mut h.first).await? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        conn.read_line(&mut line).await?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            return Ok(Some(h));
        }
        match line.split_once(':') {
            Some(("content-length", v)) => h.length = v.trim().parse().unwrap_or(0),
            Some(("x-request-id", v)) => h.id = v.trim().to_string(),
            _ => {}
        }
    }
}

async fn call(peer: &Peer, id: &str, delay: &str) -> Result<(), Error> {
    let kept = peer.kept.lock().await.pop();
    let mut conn = match kept {
        Some(conn) => conn,
        None => BufStream::new(TcpStream::connect(&peer.address).await?),
    };
    conn.get_ref().set_nodelay(true)?;
    let ask = format!("GET /answer?delay={delay} HTTP/1.1\r\nHost: peer\r\nX-Request-Id: {id}\r\n\r\n");
    conn.write_all(ask.as_bytes()).await?;
    conn.flush().await?;
    let length = head(&mut conn).await?.ok_or(Error::new(ErrorKind::Other, "the peer hung up"))?.length;
    conn.read_exact(&mut vec![0; length]).await?;
    peer.kept.lock().await.push(conn);
    Ok(())
}

fn word(first: &str, key: &str) -> String {
    let query = first.split(' ').nth(1).and_then(|path| path.split_once('?')).map_or("", |p| p.1);
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|p| p.0 == key).map_or("", |p| p.1).to_string()
}

async fn work(peer: &Arc<Peer>, h: &Head) -> Result<(), Error> {
    let (calls, delay, flow) = (word(&h.first, "calls").parse().unwrap_or(0), word(&h.first, "delay"), word(&h.first, "flow"));
    if flow == "block" {
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(2))).await?;
    }
    if flow == "all" {
        let (a, b) = tokio::join!(call(peer, &h.id, &delay), call(peer, &h.id, &delay));
        return a.and(b);
    }
    for i in 0..calls {
        if flow == "nap" && i > 0 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        if flow == "few" {
            let _turn = peer.few.acquire().await.map_err(|_| Error::new(ErrorKind::Other, "no semaphore"))?;
            call(peer, &h.id, &delay).await?;
        } else if flow == "spawn" {
            let (peer, id, delay) = (peer.clone(), h.id.clone(), delay.clone());
            tokio::spawn(async move { call(&peer, &id, &delay).await }).await??;
        } else {
            call(peer, &h.id, &delay).await?;
        }
    }
    Ok(())
}

async fn serve(peer: Arc<Peer>, socket: TcpStream) -> Result<(), Error> {
    socket.set_nodelay(true)?;
    let mut conn = BufStream::new(socket);
    while let Some(h) = head(&mut conn).await? {
        let status = if work(&peer, &h).await.is_ok() { "200 OK" } else { "500 Failed" };
        conn.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes()).await?;
        conn.flush().await?;
    }
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 4)]
async fn main() -> Result<(), Error> {
    let peer = Arc::new(Peer { address: env::var("HTTP").unwrap(), kept: Mutex::default(), few: Semaphore::new(3) });
    let listener = TcpListener::bind(format!("127.0.0.1:{}", env::var("PORT").unwrap())).await?;
    println!("ready");
    loop {
        let (socket, _) = listener.accept().await?;
        tokio::spawn(serve(peer.clone(), socket));
    }
}
