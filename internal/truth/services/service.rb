# A Ruby service on Puma that reports, per request, what its thread really did.
#
# GET /work?sleep=US&cpu=US&calls=N&delay=US sleeps, computes, asks the upstream N times
# (which answers after delay), and answers. One JSON line per request goes to $LOG. What
# Puma does before and after the application is called, the thread cannot tell.
require_relative 'puma'

serve do |id, plan, env|
  socket = env['puma.socket']
  ordinal = socket.instance_variable_get(:@ordinal).to_i
  socket.instance_variable_set(:@ordinal, ordinal + 1)
  start = Clocks.read
  sleep(plan['sleep'] / 1e6) if plan.fetch('sleep', 0).positive?
  slept = Clocks.read
  compute(plan.fetch('cpu', 0))
  computed = Clocks.read
  plan.fetch('calls', 0).times { query(connection, id, plan['delay']) }
  waited = Clocks.read
  line = {
    id: id, port: socket.peeraddr(false)[1], ordinal: ordinal, start: start.at, end: waited.at,
    slept: plan.fetch('sleep', 0).positive? ? slept.asleep_since(start) : 0,
    computed: computed.ran - slept.ran,
    waited: plan.fetch('calls', 0).positive? ? waited.asleep_since(computed) : 0
  }
  LOG.write("#{JSON.generate(line)}\n")
end
