/** The manual of `decision serve`. */
export const httpTopic = (): string => `HTTP

  \`agent-33 decision serve\` answers over HTTP what the command line answers. Bodies and answers are JSON; a body takes
  the flags of the command as keys, such as {"context": …, "strict": true}. GET /openapi.json describes all of it.

    $ agent-33 decision serve
    $ curl http://127.0.0.1:3333/decide -H 'content-type: application/json' -d '{"org_id": "acme", …}'

  POST /decide                                  org_id, domain, action, context     the gate of an action    decide
  POST /decisions/{id}/evaluate                 context                             any decision             decide
  POST /decisions/{id}/dry-run                  context                             the same, keeps nothing  decide
  POST /check                                   tool, params, session_id            may it be called?        decide
  POST /results                                 tool, session_id, ok                how the call went        decide
  POST /precedents                              record_id, or decision_id, context  earlier decisions        audit
  GET  /records                                 ?decision_id=…&since=2h&limit=100   what was decided         audit
  GET  /records/{id}                                                                one line of the log      audit
  GET  /records/{id}/explain                                                        why                      audit
  GET  /decisions                                                                   what is defined          read
  GET  /decisions/{id}                                                              one definition           read
  GET  /orgs/{org}/domains/{domain}/actions     actions and their contexts, as OpenAPI 3.1                   read
  GET  /metrics                                 for Prometheus                                               read
  GET  /openapi.json  /healthz  /readyz         for everybody: what can be asked, is it up, can it decide

  Denied, blocked, YELLOW and RED are answers: status 200. Whatever is not an answer is application/problem+json
  (RFC 9457) with the code, message and hint that the command line would give.

STATUSES
  400  the request is wrong                     401  no token, or one that does not count
  403  not permitted to this token, host or page                 404  no such path, decision, action or record
  405  another method                           408  it did not come within --request-timeout
  413  larger than --max-body                   415  not application/json, or compressed
  422  it could not be decided, as under strict 429  more than --rate-per-caller or --rate-per-org; see Retry-After
  431  headers of more than 16 KiB              500  a bug of ours
  502, 504  data that it needs did not come     503  not now: definitions, store, keys of the issuer, too much to do

TOKENS
  --jwks FILE|URL   the public keys of the issuer; https, or http on this machine; looked at again when they change;
                    a set without keys revokes all of them
  --issuer ISS      what \`iss\` must be          --audience AUD    what must be in \`aud\`
  --algorithms A,B  else RS256 to ES512 and EdDSA; never HS256 or none          --clock-skew 30s

  A token is a signed JWT (Authorization: Bearer …) with \`sub\` and \`exp\`. Its \`scope\` or \`scp\` names decide, read or
  audit, also as agent-33:decide; one that says nothing of scopes permits everything, with --require-scopes nothing.
  One with \`org_id\` is good for the gates of that organisation, and for what belongs to none.
  Without the first three flags nobody is asked for a token, and it listens on this machine only.

  Who asks is known to expressions, and recorded among the facts:
    system.authenticated_caller.subject            sub; on whose behalf it is asked
    system.authenticated_caller.delegated          true: somebody else asks for the subject
    system.authenticated_caller.actors.0.subject   who asks now (the claim \`act\` of RFC 8693), then whom that acts for
    … .issuer  .client_id  .org_id  .scopes
  Without a token it is missing, whatever the context says: such a condition is errored, and never matches. Deny those
  without one by a rule of its own: not exists(system.authenticated_caller).

WHILE IT RUNS
  Changed definitions are taken up within a second, at once on SIGHUP. A change that would break something is not:
  the log says what, agent33_definitions_stale is 1, and what was there goes on. Where approval is required, a change
  is taken up, and what is not approved is refused (503), also while an approved policy is gone. Without approval, a
  removed policy denies nothing any more: the log names it, and /readyz tells how many are \`removed\` since the start.
  SIGTERM and Ctrl-C let it answer what has come, for up to --grace (8s); a second one ends it at once (143, 130).
  A record is on the disk before its answer is sent; requests that come at the same time share one write.

  X-Correlation-Id, else the trace of traceparent, is recorded, logged and sent back. The log on standard error has
  one line of JSON a request, without bodies, queries and tokens; --quiet leaves only what goes wrong. What does not
  begin with { is for people, such as \`listening on http://…\`.

BEHIND A PROXY
  It speaks HTTP; put nginx, Caddy or the like in front for TLS. Without keys the names in Host must be those of this
  machine or of --allow-host, and whoever reaches the proxy may ask; with keys any Host is answered, unless
  --allow-host names some. X-Forwarded-For and its kin are not looked at.
`;
