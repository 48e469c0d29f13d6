# Threads that wait for known things in known places. For each line of input it says
# where each thread is, by Ruby itself.
require 'monitor'
require 'socket'
require 'timeout'

class Shop
  def initialize
    @mutex, @monitor, @queue = Mutex.new, Monitor.new, Queue.new
    @free, @left, @right = ConditionVariable.new, *UNIXSocket.pair
  end

  def hold
    @mutex.synchronize { nap }
    sleep 0.001
  end

  def want
    @mutex.synchronize { 1 + 1 }
    sleep 0.001
  end

  def keep
    @monitor.synchronize { nap }
    sleep 0.001
  end

  def ask
    @monitor.synchronize do
      1 + 1
    end
    sleep 0.001
  end

  def take
    [1].each { @queue.pop }
  end

  def put
    sleep 0.04
    @queue << 1
  end

  def await
    lock = Mutex.new
    lock.synchronize { @free.wait(lock, 0.04) }
  end

  def read
    @left.write('x')
    @right.readpartial(1)
    IO.select([@right], nil, nil, 0.04)
  end

  def later = Timeout.timeout(1) { nap }

  def self.open = new

  private

  def nap
    sleep 0.04
  end
end

def compute(seconds)
  ending = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ending
end

$stdout.sync = true
shop = Shop.open
threads = %i[hold want keep ask take put await read later].to_h do |work|
  [work, Thread.new { loop { shop.send(work) } }]
end
threads[:compute] = Thread.new { loop { compute 0.002; sleep 0.005 } }

while gets
  threads.each do |name, thread|
    frames = thread.backtrace_locations.map { |l| "#{l.base_label} #{File.basename(l.path)}:#{l.lineno}" }
    puts "#{name} #{thread.native_thread_id} #{frames.join(' < ')}"
  end
  puts
end
