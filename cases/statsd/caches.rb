# frozen_string_literal: true

require 'connection_pool'
require 'redis'

# Counted counts every operation of a cache and says how long it took: two metrics each.
module Counted
  def counted
    from = now
    value = yield
    @metrics.increment("#{@name}.#{value ? 'hit' : 'miss'}")
    @metrics.timing("#{@name}.time", (now - from) * 1000)
    value
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

# LocalCache is a hash in memory.
class LocalCache
  include Counted

  def initialize(metrics)
    @name = 'cache.local'
    @metrics = metrics
    @values = {}
  end

  def fetch(key)
    counted { @values[key] ||= "value of #{key}" }
  end
end

# RemoteCache is Redis.
class RemoteCache
  include Counted

  def initialize(metrics, port, size)
    @name = 'cache.remote'
    @metrics = metrics
    @pool = ConnectionPool.new(size: size, timeout: 30) { Redis.new(port: port, driver: :ruby) }
  end

  def fetch(key)
    counted { @pool.with { |redis| redis.get(key) } }
  end
end
