# frozen_string_literal: true

require 'socket'

# Metrics is the only way to the metrics clients: one API over both, and the environment
# says which of them is behind it. lint/ keeps other code from using the clients directly.
class Metrics
  def self.configured(env = ENV)
    new(env.fetch('METRICS') == 'buffered' ? BufferedClient.new(env.fetch('STATSD_SOCKET')) : SynchronousClient.new(env.fetch('STATSD_PORT')))
  end

  def initialize(client)
    @client = client
  end

  def increment(name)
    @client.write("#{name}:1|c")
  end

  def timing(name, milliseconds)
    @client.write("#{name}:#{milliseconds.round(3)}|ms")
  end
end

# SynchronousClient sends each metric by itself over UDP, on the thread that counts, under
# one lock: as the client of the incident did.
class SynchronousClient
  def initialize(port, host = '127.0.0.1')
    @socket = UDPSocket.new
    @socket.connect(host, port)
    @lock = Mutex.new
  end

  def write(line)
    @lock.synchronize { @socket.send(line, 0) }
  end
end

# BufferedClient collects lines; a thread of its own sends them, many in one datagram, over
# a Unix socket.
class BufferedClient
  PAUSE = 0.1 # seconds between two rounds of sending
  PACKET = 4096 # bytes of a datagram

  def initialize(path)
    @path = path
    @lines = Queue.new
    Thread.new { round while true }.name = 'metrics'
  end

  def write(line)
    @lines << line
  end

  private

  def round
    sleep PAUSE
    packet = +''
    @lines.size.times do
      line = @lines.pop
      flush(packet) if packet.bytesize + line.bytesize >= PACKET
      packet << line << "\n"
    end
    flush(packet)
  end

  def flush(packet)
    return if packet.empty?

    @socket ||= Socket.new(:UNIX, :DGRAM).tap { |s| s.connect(Addrinfo.unix(@path, :DGRAM)) }
    @socket.send(packet, 0)
    packet.clear
  end
end
