# frozen_string_literal: true

# Orders counts through the wrapper.
class Orders
  def initialize(metrics)
    @metrics = metrics
  end

  def place
    @metrics.increment('orders.placed')
  end
end
