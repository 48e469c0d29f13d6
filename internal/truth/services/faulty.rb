# The Ruby service (Puma) of the fault bench; its environment is documented in internal/truth/cmd/faulty.
# The names with thing in them are replaced by others in each run.
require_relative 'puma'
require 'connection_pool'
require 'openssl'
require 'resolv'
require 'socket'
require 'tempfile'
require 'zlib'

FIXED = ENV['FIXED'] == '1'
SPENT = [] # ns of each request in the fault or what stands in its place
COST, MANY = ENV.fetch('COST').to_i, ENV.fetch('MANY').to_i
ROUTES = ENV.fetch('ROUTES').split(',')

def vary(us) = us * (0.5 + rand)
def price_thing(us) = compute(us.to_i)
def digest_thing(us) = compute(us.to_i)

BLOCK = ('thing' * 20_000).freeze

# Computes without the interpreter's lock, in pieces.
def checksum_thing(us)
  ending = ran + us.to_i * 1000
  Zlib.deflate(BLOCK) while ran < ending
end

def connect(address, secure: false)
  Net::HTTP.new(*address.split(':')).tap do |http|
    http.use_ssl, http.verify_mode = true, OpenSSL::SSL::VERIFY_NONE if secure
    http.max_retries = 0
    http.keep_alive_timeout = 600
    http.start
  end
end

def keep(name) = Thread.current[name] ||= yield
def kept = keep(:kept) { connect(ENV.fetch('UPSTREAM')) }
def ask(http, path, delay, kind = Net::HTTP::Get) = http.request(kind.new("#{path}?delay=#{vary(delay).to_i}")).body
def asks(route, tail = '') = ask(kept, "/#{ROUTES[route]}#{tail}", COST)

class Thing
  def initialize
    @lock = Mutex.new
    @pool = ConnectionPool.new(size: FIXED ? 64 : 2, timeout: 60) { connect(ENV.fetch('UPSTREAM')) }
    @journal = Tempfile.new('faulty')
    @metrics = UDPSocket.new
    @metrics.connect(*ENV.fetch('STATSD').split(':'))
    @things, @known, @hosts = [], {}, 0
  end

  def none = nil

  def connection_churn
    return ask(keep(:secure) { connect(ENV.fetch('SECURE'), secure: true) }, "/#{ROUTES[1]}", COST) if FIXED

    http = connect(ENV.fetch('SECURE'), secure: true)
    ask(http, "/#{ROUTES[1]}", COST)
    http.finish
  end

  def n_plus_one = (FIXED ? 1 : 2 + rand(MANY)).times { |i| asks(1, "/#{1000 + i}") }

  def serial_calls
    return [1, 2, 3].map { |i| Thread.new { ask(connect(ENV.fetch('UPSTREAM')), "/#{ROUTES[i]}", COST) } }.each(&:join) if FIXED

    [1, 2, 3].shuffle.each { |i| asks(i) }
  end

  def slow_peer = ask(kept, "/#{ROUTES[1]}", 1000 + (!FIXED && rand < 0.2 ? 5 * COST : 0))

  def credential_fetch
    return if FIXED && @token

    @token = true
    ask(kept, '/oauth2/token', COST, Net::HTTP::Post)
  end

  def lock_convoy
    return checksum_thing(vary(COST)) if FIXED

    @lock.synchronize { checksum_thing(vary(COST)) }
  end

  def refresh_under_lock = FIXED ? asks(1) : @lock.synchronize { asks(1) }
  def interpreter_lock = digest_thing(vary(FIXED ? COST / 2 : COST)) # fixed: half of the work
  def pool_exhausted = @pool.with { |http| ask(http, "/#{ROUTES[1]}", COST) }
  def sleep_retry = FIXED || sleep(vary(COST) / 1e6)

  def disk
    @lock.synchronize { @journal.syswrite('x' * 512) }
    @journal.fsync unless FIXED
  end

  def child_process = FIXED || system('/bin/true')
  def sync_telemetry = FIXED || MANY.times { |i| @metrics.send("thing.step#{i}:1|c", 0) }
  def cpu_bound = !FIXED && digest_thing(vary(COST))

  def linear_scan
    MANY.times do
      key = "thing-#{@known.size}"
      @known[key] = 1
      @things << key unless FIXED
    end
    find_thing('nobody') unless FIXED
  end

  def find_thing(key) = @things.find { |thing| thing == key }

  def slow_dns
    unless FIXED
      host, port = ENV.fetch('DNS').split(':')
      keep(:dns) { Resolv::DNS.new(nameserver_port: [[host, port.to_i]], search: [], ndots: 1) }.getaddress("#{ROUTES[1]}.thing.test")
    end
    ask(kept, "/#{ROUTES[1]}", 1000)
  end
end

THING = Thing.new
FAULT = ENV.fetch('FAULT').tr('-', '_').to_sym

serve do |_id, _plan, env|
  next "#{SPENT.size} #{SPENT.sum}\n" if env['PATH_INFO'] == '/cost'

  price_thing(vary(ENV.fetch('OWN_CPU').to_i))
  ask(kept, "/#{ROUTES[0]}", ENV.fetch('OWN_CALL').to_i)
  begun = now
  THING.send(FAULT)
  SPENT << now - begun
  nil
end
