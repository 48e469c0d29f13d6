# frozen_string_literal: true

# Credentials that last LIFETIME seconds instead of the 900 or more that STS gives out, so
# that a recording of seconds holds several refreshes. The SDK's own margins are cut in
# the same proportion: with REFRESH=locked, whoever finds less than 300 s of 900 left
# fetches new ones inside the mutex, and all others wait for it; with REFRESH=ahead, as
# the SDK has since learned to, a thread fetches them in the background once less than
# 600 s are left.
class WebIdentity < Aws::AssumeRoleWebIdentityCredentials
  SHORTEST = 900.0 # seconds, of what STS gives out

  def self.provider
    return unless ENV.key?('REFRESH')

    new(role_arn: ENV.fetch('AWS_ROLE_ARN'), web_identity_token_file: ENV.fetch('AWS_WEB_IDENTITY_TOKEN_FILE'),
        duration_seconds: Integer(ENV.fetch('LIFETIME')), ahead: ENV['REFRESH'] == 'ahead')
  end

  def initialize(duration_seconds:, ahead:, **options)
    @scale = duration_seconds / SHORTEST
    super(duration_seconds: duration_seconds, **options)
    @async_refresh = ahead
  end

  private

  def near_expiration?(margin)
    @expiration.nil? || Time.now + margin * @scale > @expiration
  end
end
