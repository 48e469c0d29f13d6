# frozen_string_literal: true

# Orders counts past the wrapper, in each of the ways that the rule knows.
class Orders
  def place
    Statsd.new('127.0.0.1', 8125).increment('orders.placed')
    ::StatsD.increment('orders.placed')
    Datadog::Statsd.new.increment('orders.placed')
    SynchronousClient.new(8125).write('orders.placed:1|c')
  end
end
