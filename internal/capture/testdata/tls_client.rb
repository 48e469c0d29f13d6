# As tls_client.py, in Ruby: tls_client.rb PORT.
require "net/http"
require "openssl"

def connect
  h = Net::HTTP.new("localhost", ARGV[0].to_i)
  h.use_ssl = true
  h.verify_mode = OpenSSL::SSL::VERIFY_NONE
  h.start
end

def work(n)
  c = connect
  n.times do |i|
    c.get("/items/#{i}?secret=hidden")
    c.post("/", "Version=2011&Action=AssumeRole&Secret=hidden", "Content-Type" => "application/x-www-form-urlencoded")
    c.post("/table", "{}" * 20_000, "X-Amz-Target" => "DynamoDB.GetItem", "Authorization" => "x" * 900)
  end
  c.finish
  3.times do
    c = connect
    c.put("/once", "")
    c.finish
  end
end

$stdin.gets
Array.new(2) { Thread.new { work(20) } }.each(&:join)
$stdin.read
