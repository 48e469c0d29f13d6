package hypotheses

import (
	"strings"

	"github.com/getdwell/dwell/recording"
)

// credentialFix says how to keep credentials between requests, in the words of the client that asks for them.
func credentialFix(rt recording.Runtime, operation string) string {
	ahead := "; fetch them when the process starts, and again ahead of expiry " + besideRequests(rt)
	switch {
	case fetchesToken(operation):
		return "keep the token until shortly before its expires_in has passed, for all requests of the process" + ahead
	case strings.Contains(operation, "jwks") || strings.Contains(operation, "/certs") || strings.Contains(operation, "/keys") || strings.Contains(operation, ".well-known"):
		return "keep the key set for all requests of the process, and fetch it again only for a key id that is not in it" + keySets(rt) + ahead
	}
	return awsClientFix(rt) + ahead
}

// fetchesToken reports whether words name a call for an OAuth token.
func fetchesToken(words string) bool {
	return strings.Contains(words, "grant_type:") || strings.Contains(words, "oauth") || strings.HasSuffix(strings.TrimSuffix(words, ")"), "/token")
}

// besideRequests says where a runtime does work that no request waits for.
func besideRequests(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeNode:
		return "from a timer"
	case recording.RuntimeGo:
		return "in a separate goroutine"
	}
	return "on another thread"
}

// keySets names what keeps key sets in a runtime.
func keySets(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeNode:
		return " (one jwks-rsa client with cache: true, or one createRemoteJWKSet of jose, for the process)"
	case recording.RuntimePython:
		return " (one PyJWKClient of PyJWT for the process)"
	case recording.RuntimeJVM:
		return " (one JwtDecoder of Spring Security, or one JWKSource of Nimbus, for the process)"
	}
	return ""
}

// clientFix says how one client, with its pool and its credentials, serves all requests.
func clientFix(rt recording.Runtime, operation string) string {
	if operation != "" {
		return awsClientFix(rt)
	}
	return "build the client once, when the process starts, and let all requests and threads use it; " + reuseFix(rt)
}

// awsClientFix names the AWS SDKs' own objects, which usually bring the credentials.
func awsClientFix(rt recording.Runtime) string {
	switch rt {
	case recording.RuntimeRuby:
		return "build one client when the process starts (CLIENT = Aws::DynamoDB::Client.new; clients are thread-safe) instead of one per request, class or thread; " +
			"or give all of them one provider: Aws.config[:credentials] = Aws::AssumeRoleWebIdentityCredentials.new(...)"
	case recording.RuntimeJVM:
		return "build one client when the process starts and share it, or give all of them one provider: AWS SDK v2: StsWebIdentityTokenFileCredentialsProvider or DefaultCredentialsProvider.create() " +
			"with asyncCredentialUpdateEnabled(true); v1: DefaultAWSCredentialsProviderChain.getInstance(), InstanceProfileCredentialsProvider.createAsyncRefreshingProvider(true)"
	case recording.RuntimeNode:
		return "build one client at module level instead of in the handler (new DynamoDBClient({}) outside of it), or give all of them one memoized provider: fromTokenFile() or fromNodeProviderChain() of @aws-sdk/credential-providers; " +
			"SDK v2: one AWS.config.credentials"
	case recording.RuntimeGo:
		return "call config.LoadDefaultConfig once when the process starts and share the aws.Config and the clients made from it: its aws.CredentialsCache keeps credentials (ExpiryWindow refreshes them early)"
	case recording.RuntimePython:
		return "make one boto3.Session and one client from it per process (clients are thread-safe) instead of boto3.client(...) in the handler: a session keeps its credentials"
	}
	return "build one client when the process starts and let all requests and threads use it: it keeps its credentials until they expire"
}

// refreshFix says how to fetch something from a peer (from) again ahead of its expiry: the service does that for a
// token, the SDKs for credentials. It follows the general advice.
func refreshFix(rt recording.Runtime, from string) string {
	if fetchesToken(from) {
		return ". Fetch the token ahead of its expires_in " + besideRequests(rt) + "; clients treat a token as expired some seconds early: one that lives no longer is fetched each time"
	}
	switch rt {
	case recording.RuntimeRuby:
		return ". Newer versions of aws-sdk-core do that for AssumeRoleWebIdentityCredentials, ECSCredentials and InstanceProfileCredentials; your own provider can include Aws::RefreshingCredentials and set @async_refresh"
	case recording.RuntimeJVM:
		return ". AWS SDK v2: asyncCredentialUpdateEnabled(true) on the provider's builder; v1: InstanceProfileCredentialsProvider.createAsyncRefreshingProvider(true), STSAssumeRoleSessionCredentialsProvider already refreshes ahead"
	case recording.RuntimeGo:
		return ". aws.CredentialsCache: set ExpiryWindow (and ExpiryWindowJitterFrac), and call Retrieve from a separate goroutine before it passes"
	case recording.RuntimePython:
		return ". botocore's RefreshableCredentials let one thread refresh 15 minutes ahead while others use the old ones: use them instead of your own cache"
	case recording.RuntimeNode:
		return ". Let a timer call the provider ahead of the expiration it returned, or wrap it in memoize of @smithy/property-provider with an earlier expiry"
	}
	return ""
}
