# frozen_string_literal: true

# Aws::DynamoDB::Client, defined at run time: Debian has the SDK's core, but not this
# service's gem, which is generated from the same description that botocore carries.
# Credential chain, signing, connection pool, retries and parsing are the SDK's own.

require 'aws-sdk-core'
require 'aws-sdk-core/plugins/protocols/json_rpc'
require 'json'
require 'zlib'

module Aws
  module DynamoDB
    # Description turns a service's JSON into what the SDK's generated code builds.
    class Description
      include Seahorse::Model

      SHAPES = {
        'blob' => Shapes::BlobShape, 'boolean' => Shapes::BooleanShape, 'double' => Shapes::FloatShape,
        'float' => Shapes::FloatShape, 'integer' => Shapes::IntegerShape, 'list' => Shapes::ListShape,
        'long' => Shapes::IntegerShape, 'map' => Shapes::MapShape, 'string' => Shapes::StringShape,
        'structure' => Shapes::StructureShape, 'timestamp' => Shapes::TimestampShape
      }.freeze

      def initialize(file)
        @json = Zlib::GzipReader.open(file) { |io| JSON.parse(io.read) }
        @shapes = @json['shapes'].to_h { |name, shape| [name, SHAPES.fetch(shape['type']).new(name: name)] }
        @json['shapes'].each { |name, shape| connect(@shapes[name], shape) }
      end

      def api
        api = Api.new
        api.version = @json['metadata']['apiVersion']
        api.metadata = @json['metadata']
        @json['operations'].each { |name, operation| api.add_operation(snake(name).to_sym, build(name, operation)) }
        api
      end

      private

      def build(name, json)
        Operation.new.tap do |operation|
          operation.name = name
          operation.http_method = json['http']['method']
          operation.http_request_uri = json['http']['requestUri']
          operation.input = reference(json['input'])
          operation.output = reference(json['output'])
        end
      end

      def connect(shape, json)
        case json['type']
        when 'structure' then structure(shape, json)
        when 'list' then shape.member = reference(json['member'])
        when 'map'
          shape.key = reference(json['key'])
          shape.value = reference(json['value'])
        end
      end

      def structure(shape, json)
        required = json['required'] || []
        names = json['members'].keys
        names.each do |name|
          shape.add_member(snake(name).to_sym, reference(json['members'][name], name, required.include?(name)))
        end
        shape.struct_class = names.empty? ? Aws::EmptyStructure : Struct.new(*names.map { |n| snake(n).to_sym }) { include Aws::Structure }
      end

      def reference(json, name = nil, required = false)
        return Shapes::ShapeRef.new(shape: Shapes::StructureShape.new(struct_class: Aws::EmptyStructure)) unless json

        Shapes::ShapeRef.new(shape: @shapes.fetch(json['shape']), location_name: name, required: required)
      end

      def snake(name)
        name.gsub(/([A-Z]+)([A-Z][a-z])|([a-z0-9])(?=[A-Z])/) { $3 ? "#{$3}_" : "#{$1}_#{$2}" }.downcase
      end
    end

    # Endpoint uses the endpoint that the client was given, and signs for DynamoDB.
    class Endpoint < Seahorse::Client::Plugin
      class Handler < Seahorse::Client::Handler
        def call(context)
          context[:auth_scheme] = { 'name' => 'sigv4', 'signingName' => 'dynamodb', 'signingRegion' => context.config.region }
          @handler.call(context)
        end
      end

      handler(Handler, step: :build, priority: 75)
    end

    # Client has the plugins that the SDK's generator gives every JSON service.
    class Client < Seahorse::Client::Base
      include Aws::ClientStubs

      @identifier = :dynamodb
      set_api(Description.new(ENV.fetch('DYNAMODB_SERVICE')).api)
      own = [Aws::Plugins::Protocols::Query, Aws::STS::Plugins::STSRegionalEndpoints, Aws::STS::Plugins::Endpoints]
      (Aws::STS::Client.plugins - own - plugins).each { |plugin| add_plugin(plugin) }
      add_plugin(Aws::Plugins::Protocols::JsonRpc)
      add_plugin(Endpoint)

      # What Seahorse calls after a client's options are known.
      def initialize(*args)
        super
      end

      class << self
        attr_reader :identifier

        def errors_module
          Errors
        end
      end
    end

    # Errors are made as they occur.
    module Errors
      extend Aws::Errors::DynamicErrors
    end
  end
end
