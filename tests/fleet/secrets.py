"""The planted secrets: obviously fake, one for each place where a format can carry one.

A test searches every file that the product writes for these strings. Each is unique, so a find says
which place leaked.
"""

HTTP_AUTHORIZATION = "FAKE-hubble-bearer-token-EXAMPLE"
HTTP_QUERY_TOKEN = "FAKE-hubble-url-token-EXAMPLE"
HTTP_COOKIE = "FAKE-hubble-cookie-EXAMPLE"
POD_ENVIRONMENT = "FAKE-pod-env-password-EXAMPLE"
POD_SANDBOX_TOKEN = "FAKE-pod-sandbox-token-EXAMPLE"
POLYAXON_ENVIRONMENT = "FAKE-polyaxon-content-api-key-EXAMPLE"
POLYAXON_GIT_USERINFO = "FAKE-git-userinfo-EXAMPLE"
POLYAXON_SPEC_ENVIRONMENT = "FAKE-spec-json-env-EXAMPLE"
PRESIGNED_SIGNATURE = "FAKE-presigned-signature-EXAMPLE"
PRESIGNED_SECURITY_TOKEN = "FAKE-presigned-session-token-EXAMPLE"
PRESIGNED_ACCESS_KEY = "ASIAFAKEEXAMPLE2PODS"
REFERER_SIGNATURE = "FAKE-referer-signature-EXAMPLE"
REJECTED_LINE_TOKEN = "FAKE-rejected-line-token-EXAMPLE"
STATIC_ACCESS_KEY = "AKIAFAKEEXAMPLE2KEYS"
EVENT_MESSAGE_PASSWORD = "FAKE-event-message-password-EXAMPLE"
PULL_USERINFO = "FAKE-image-pull-userinfo-EXAMPLE"

ALL = tuple(
    value for name, value in sorted(globals().items()) if name.isupper() and isinstance(value, str)
)
