# What the services on Puma have in common: their server, its clocks and its log.
require 'json'
require 'net/http'
require 'puma'
require 'puma/launcher'
require 'puma/configuration'

LOG = File.open(ENV.fetch('LOG', File::NULL), 'a').tap { |f| f.sync = true }
UPSTREAM = ENV.fetch('UPSTREAM', ':').split(':')

# What says where Puma logs to: events up to Puma 5, a writer of its own from 6 on.
def logging
  return { events: Puma::Events.new($stderr, $stderr) } unless Puma.const_defined?(:LogWriter)

  { log_writer: Puma::LogWriter.new($stderr, $stderr) }
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

# ns that this thread ran; up to date, unlike schedstat's.
def ran = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

# What the thread ran, was ready to run, and how often it went to sleep, at a time.
Clocks = Struct.new(:at, :ran, :ready) do
  def self.read
    local = Thread.current
    stat = local[:schedstat] ||= File.open('/proc/thread-self/schedstat')
    new(now, Object.send(:ran), stat.pread(64, 0).split[1].to_i)
  end

  # ns off the CPU and not ready since then.
  def asleep_since(before) = (at - before.at) - (ran - before.ran) - (ready - before.ready)
end

def compute(us)
  ending = ran + us * 1000
  nil while ran < ending
end

# A connection to the upstream that this thread keeps.
def connection
  Thread.current[:upstream] ||= Net::HTTP.new(*UPSTREAM).tap do |http|
    http.max_retries = 0
    http.keep_alive_timeout = 600
    http.start
  end
end

def query(http, id, delay)
  http.request(Net::HTTP::Get.new("/answer?delay=#{delay}", 'X-Request-Id' => id.to_s)).body
end

# Serves until it is told to stop. The application is asked with the id of a request, its
# plan, and Puma's environment; a string that it returns is the answer.
def serve(&application)
  app = lambda do |env|
    plan = env['QUERY_STRING'].split('&').to_h { |pair| pair.split('=') }.transform_values(&:to_i)
    said = application.call(env.fetch('HTTP_X_REQUEST_ID', '-1').to_i, plan, env)
    body = said.is_a?(String) ? said : "ok\n"
    [200, { 'Content-Length' => body.size.to_s }, [body]]
  end
  threads = ENV.fetch('THREADS', '16').to_i
  configuration = Puma::Configuration.new do |c|
    c.bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}?backlog=1024"
    c.threads threads, threads
    c.workers ENV.fetch('WORKERS', '0').to_i
    c.silence_single_worker_warning
    c.app(&app)
    c.log_requests false
  end
  launcher = Puma::Launcher.new(configuration, **logging)
  launcher.events.on_booted { puts 'ready'; $stdout.flush }
  launcher.run
end
