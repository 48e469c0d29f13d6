# frozen_string_literal: true

module RuboCop
  module Cop
    module Metrics
      # Keeps application code from sending metrics past the wrapper: a client that is used
      # directly sends on the thread that counts, whatever the configuration says.
      #
      #   # bad
      #   Statsd.new('127.0.0.1').increment('orders')
      #   StatsD.increment('orders')
      #   SynchronousClient.new(8125).write('orders:1|c')
      #
      #   # good
      #   metrics.increment('orders')
      #
      # `Clients` lists the constants that only the wrapper may name.
      class NoDirectStatsd < Base
        MSG = 'Send metrics through Metrics, not through %<client>s: it sends on the thread that counts.'

        def on_const(node)
          return unless clients.include?(node.source.delete_prefix('::'))
          return if node.parent&.const_type? || defined_here?(node)

          add_offense(node, message: format(MSG, client: node.source))
        end

        private

        def clients
          cop_config.fetch('Clients', [])
        end

        # The definition of the client itself.
        def defined_here?(node)
          (node.parent&.class_type? || node.parent&.module_type?) && node.parent.identifier.equal?(node)
        end
      end
    end
  end
end
