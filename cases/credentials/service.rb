# frozen_string_literal: true

# A home screen on Puma: each request reads one row of it from DynamoDB. How its clients
# are made, and how their credentials are kept fresh, is switched by the environment.

$stdout.sync = true
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require_relative 'gems/aws-sdk-dynamodb/lib/aws-sdk-dynamodb'
require_relative 'web_identity'

Aws.config.update(region: ENV.fetch('AWS_REGION'), sts: { endpoint: ENV.fetch('STS') })

# Clients makes them as CLIENTS says.
module Clients
  def self.build(**options)
    Aws::DynamoDB::Client.new(endpoint: ENV.fetch('DYNAMODB'), **options)
  end

  # Of is what a class of rows asks for its client.
  case ENV.fetch('CLIENTS')
  when 'request' # one for each request
    def self.of(_rows)
      build
    end
  when 'thread' # one for each class and thread
    def self.of(rows)
      Thread.current[rows.name] ||= build
    end
  when 'boot' # one for all
    CREDENTIALS = WebIdentity.provider
    CLIENT = CREDENTIALS ? build(credentials: CREDENTIALS) : build

    def self.of(_rows)
      CLIENT
    end
  end
end

# Row is one row of the home screen; each has a class of its own.
class Row
  def self.title(id)
    Clients.of(self).get_item(table_name: 'rows', key: { 'id' => { s: id } }).item['title'].s
  end
end

ROWS = Array.new(Integer(ENV.fetch('ROWS', '12'))) { |i| Object.const_set("Row#{i}", Class.new(Row)) }

App = lambda do |env|
  number = env['PATH_INFO'][/\d+/].to_i
  title = ROWS[number % ROWS.size].title((number % 500).to_s)
  [200, { 'content-type' => 'application/json' }, [%({"row":#{number % ROWS.size},"title":"#{title}"})]]
end

config = Puma::Configuration.new do |c|
  c.bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}"
  c.threads 16, 16
  c.max_fast_inline 1 # with more connections than threads no thread waits at an idle one
  c.log_requests false
  c.quiet
  c.app App
end
quiet = Puma.const_defined?(:LogWriter) ? { log_writer: Puma::LogWriter.null } : { events: Puma::Events.null } # from Puma 6 on
launcher = Puma::Launcher.new(config, **quiet)
launcher.events.on_booted { puts 'ready' }
launcher.run
