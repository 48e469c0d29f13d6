# A Ruby service on Puma whose threads wait for each other in one known way, PROBLEM, or
# no longer, with FIXED=1. GET /work?cpu=US&calls=N&delay=US.
#
# One JSON line for each time that a lock was taken goes to $LOG: when it was asked for,
# had and left, on the kernel's monotonic clock, by which thread. Whoever takes a lock of
# Ruby's needs the interpreter's too before it can say so: a wait may end a little earlier
# than it says.
require_relative 'puma'
require 'connection_pool'
require 'monitor'
require 'zlib'

FIXED = ENV['FIXED'] == '1'
LINES = Queue.new

# One time that a lock is taken.
class Taken
  attr_reader :id, :cpu, :delay

  def initialize(id, plan)
    @id, @cpu, @delay = id, plan.fetch('cpu', 0), plan.fetch('delay', 0)
  end

  def asks = @asked = now
  def has = @had = now
  def leaves = @left = now

  # Later, so that it is held no longer than it is said to be.
  def log(waited: 0, ready: 0)
    LINES << {
      lock: 'it', id: @id, thread: Thread.current.native_thread_id, asked: @asked, had: @had, left: @left,
      waited: waited, ready: ready
    }
  end
end

# A lock held over a call. Fixed: callers ask side by side.
class Tokens
  def initialize = @lock = Mutex.new

  def serve(taken)
    return renew(taken) if FIXED

    taken.asks
    @lock.synchronize do
      taken.has
      renew(taken)
      taken.leaves
    end
    taken.log
  end

  def renew(taken) = query(connection, taken.id, taken.delay)
end

# The same with a monitor, which its holder may take again.
class Sessions < Tokens
  def initialize = @lock = Monitor.new
  def renew(taken) = @lock.synchronize { super }
end

# A lock held over computing. Fixed: only what is shared is under it.
class Ledger
  def initialize
    @lock, @total = Mutex.new, ''
  end

  def serve(taken)
    sum = FIXED ? checksum(taken.cpu) : nil
    taken.asks
    @lock.synchronize do
      taken.has
      @total = sum || checksum(taken.cpu)
      taken.leaves
    end
    taken.log
  end

  # Computes without the interpreter's lock, in a few long pieces.
  def checksum(us)
    ending = ran + us * 1000
    sum = Zlib::Deflate.deflate(ENTRIES, 9) while ran < ending
    sum
  end

  ENTRIES = Random.new(7).bytes(32 << 10)
end

# A pool of two connections. Fixed: as many as the load ever needs.
class Connections
  def initialize
    @idle = ConnectionPool.new(size: FIXED ? 64 : 2, timeout: 60) do
      Net::HTTP.new(*UPSTREAM).tap { |http| http.keep_alive_timeout = 600 }.start
    end
  end

  def serve(taken)
    taken.asks
    borrow do |http|
      taken.has
      query(http, taken.id, taken.delay)
      taken.leaves
    end
    taken.log
  end

  def borrow(&) = @idle.with(&)
end

# A thread computes beside the requests. Fixed: it is a process of its own, nice and with rests.
class Interpreter
  def initialize
    parent = Process.ppid
    return Thread.new { summarise(parent) } unless FIXED

    itself = Process.pid
    fork do
      Process.setpriority(Process::PRIO_PROCESS, 0, 19)
      summarise(itself)
    end
  end

  def summarise(parent)
    burst = Taken.new(-1, {})
    while Process.ppid == parent
      burst.asks
      burst.has
      ending = now + 200_000_000
      while now < ending
        steps = 200_000
        steps -= 1 while steps.positive?
      end
      burst.leaves
      burst.log
      sleep(FIXED ? 0.2 : 0.02)
    end
  end

  # Lets the others go first, as whoever asks the kernel for something does, and computes.
  # Only clocks are read that are read without letting go.
  def serve(taken)
    3.times do
      before = ran
      asked = taken.asks
      Thread.pass
      had = taken.has
      waited = had - asked - (ran - before)
      compute(taken.cpu / 3)
      taken.leaves
      taken.log(waited: waited) if waited > 20_000_000 # shorter ones are for a processor
    end
  end
end

at_exit do
  LOG.write(LINES.size.times.map { "#{JSON.generate(LINES.pop)}\n" }.join)
end
problem = { 'call' => Tokens, 'monitor' => Sessions, 'cpu' => Ledger, 'pool' => Connections, 'gil' => Interpreter }
problem = problem.fetch(ENV.fetch('PROBLEM')).new
serve { |id, plan, _| problem.serve(Taken.new(id, plan)) }
