/** How data is fetched before a decision: endpoints, \`enrich\` and \`fetch_from_api\`. */
export const endpointsTopic = (): string => `ENDPOINTS

  Where decisions fetch data from before they are made. They stand at the top of a document, and all decisions of
  the directory may name them.

  endpoints:
    credit_bureau:                    letters, digits, _ and -
      url: "https://bureau.example/score"
      method: get                     get (the default), post, put, delete; get and delete send the params in the
                                      query, post and put as a JSON body
      auth: { type: api_key, secret_key: BUREAU_KEY }     in the header X-API-Key, or in header: NAME
            { type: basic, username_key: BUREAU_USER, password_key: BUREAU_PASSWORD }
            { type: bearer, token_key: BUREAU_TOKEN }     names of environment variables, never the secrets
      timeout: 5s                     for the whole fetch with all its attempts; 5s when left out
      headers: { accept: application/json }
      cache: { ttl: 1h }              an answer stands so long for the same params; none is kept when left out
      retry: { attempts: 3, base: 100ms, max: 2s }        after failures that may pass; once only when left out
      rate_limit: { count: 10, per: 1s }                  at most so many requests in any second, of all processes
      circuit_breaker: { failure_threshold: 5, timeout: 60s, success_threshold: 2 }     these are the defaults
      allow_private: false            true lets it be on this machine or in a private network

  Only http and https, at most 1 MiB of answer, no redirects and no proxies. After five failures in a row an endpoint
  is left alone for a minute; an answer that was kept, up to a day longer than its ttl, then stands in, with a warning.
  Tried again is what answered 408, 425, 429, 500, 502, 503 or 504, whatever the method, and, where the connection
  failed, get, put and delete: give no \`retry\` to what must not happen twice. Where an answer repeats a secret of
  \`auth\`, [secret] stands in its place; so secrets should be long enough not to be a word of the answer.

ENRICH (in a decision of any type)
  enrich:
    - endpoint: credit_bureau
      params: { ssn: "{{ customer.ssn }}" }     templates on the context; what is missing is sent as null, in a
                                      query and within text empty, with a warning (with --strict it is an error)
      into: credit                    where in the context the answer goes; what the caller put there is left out
      mapping: { score: value }       only the answer's \`score\`, as credit.value; all of it when left out;
                                      \`data.items.0.score\` is deeper in it
      required: true                  without it there is no decision (exit code 1), and a gate is YELLOW (5);
                                      false when left out: what reads it is missing, with a warning

  One whose params read what another fetches is written after it, and not asked where that did not come; all the
  others are fetched at once. An empty answer (204, null) is no data.

FETCH_FROM_API (in the rules of a scored decision)
  if: { field: customer, op: fetch_from_api, value: { endpoint: credit_bureau, params: { ssn: "{{ customer.ssn }}" } } }

  True where data came, whether or not there is such a field, and false on any failure. It is asked before any rule
  is looked at, also by rules that are not reached in the end. With mapping: { score: credit.value } the data go into
  the context, for all rules to read.

  What was fetched is recorded with the decision: facts.fetched says from where and when, the data are in the context,
  and a replay asks nobody. A dry run sends nothing but get and keeps nothing. Of masked data no answer is kept.
  \`decision validate\` looks at endpoints without asking them.
`;
