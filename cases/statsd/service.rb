# frozen_string_literal: true

# A shop on Puma. A product's page reads four to eight values from two caches; every fourth
# reserves a unit of the product, in a transaction that spans half of these reads.
require 'json'
require 'pg'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require_relative 'caches'
require_relative 'metrics'

THREADS = 16
PARTS = 80

class Shop
  def initialize(env)
    @metrics = Metrics.configured(env)
    @local = LocalCache.new(@metrics)
    @remote = RemoteCache.new(@metrics, env.fetch('REDIS_PORT'), THREADS)
    @stock = ConnectionPool.new(size: THREADS, timeout: 30) { PG.connect(host: '127.0.0.1', port: env.fetch('SQL_PORT'), user: 'shop', dbname: 'postgres') }
  end

  def call(env)
    id = env['PATH_INFO'][/\d+\z/].to_i
    keys = Array.new(4 + id % 5) { |n| "product:#{(id * 7 + n) % 1000}" }
    values = id % 4 == 3 ? reserve(id, keys) : read(keys)
    [200, { 'content-type' => 'application/json' }, [page(id, values)]]
  end

  private

  # Every second value is kept in memory.
  def read(keys)
    keys.each_with_index.map { |key, n| n.even? ? @remote.fetch(key) : @local.fetch(key) }
  end

  def reserve(id, keys)
    @stock.with do |session|
      session.transaction do
        session.exec_params('UPDATE stock SET units = units - 1 WHERE id = $1', [id % 5000])
        read(keys)
      end
    end
  end

  # A page is rendered in parts; as frameworks do, each is counted and timed.
  def page(id, values)
    JSON.generate(Array.new(PARTS) { |n| part(id, n, values[n % values.size]) })
  end

  def part(id, number, text)
    from = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    lines = Array.new(4) { |n| { id: id, line: n, text: text } }
    rendered = { part: number, size: JSON.generate(lines).size, lines: lines }
    @metrics.increment('part.rendered')
    @metrics.timing('part.time', (Process.clock_gettime(Process::CLOCK_MONOTONIC) - from) * 1000)
    rendered
  end
end

conf = Puma::Configuration.new do |c|
  c.bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}"
  c.threads THREADS, THREADS
  c.app Shop.new(ENV)
end
quiet = Puma.const_defined?(:LogWriter) ? { log_writer: Puma::LogWriter.strings } : { events: Puma::Events.strings } # from Puma 6 on
launcher = Puma::Launcher.new(conf, **quiet)
launcher.events.on_booted { $stdout.puts 'ready' and $stdout.flush }
launcher.run
