/** The manual of `decision mcp`. */
export const mcpTopic = (): string => `MCP

  \`agent-33 decision mcp\` answers the agent that starts it in the Model Context Protocol, over standard input and
  output; \`agent-33 decision serve --mcp\` answers many, at http://127.0.0.1:3333/mcp (streamable HTTP).

    $ claude mcp add agent-33 -- agent-33 decision mcp --decisions /path/to/decisions

TOOLS
  decide               asks the gate of an action before it is taken                                       decide
  evaluate             makes a decision by its id                                                          decide
  dry_run              the same, keeping nothing                                                           decide
  check_tool_call      asks whether a tool may be called, and with which params                            decide
  record_tool_result   tells how the call went                                                             decide
  list_actions         the actions that have a gate, with the schemas of their contexts                    read
  list_decisions       what is defined                                                                     read
  show_decision        one definition                                                                      read
  find_records         what was decided                                                                    audit
  show_record          one line of the log                                                                 audit
  explain_record       why                                                                                 audit
  find_precedents      earlier decisions like this one                                                     audit

  Each action also has a tool of its own, such as decide_acme_payments_wire_approve, whose schema is that of the
  gate's context (where there are at most 50). An answer is what the command line prints as JSON. What goes wrong is an answer
  that is marked as an error, with code, message and hint, so that the agent can mend its question.

  A correlation_id in the _meta of a call, or the trace of its traceparent, is recorded.

RESOURCES
  agent33://definitions/ID     agent33://records/ID     by id, the beginning of one, number or \`latest\`

  Over HTTP the tokens, scopes, limits and logs are those of \`agent-33 help http\`: a tool that the token does not
  permit is not listed. Host and Origin are looked at, so that no web page can ask by way of the user's browser;
  --allow-host and --allow-origin let in others. Over standard input and output there is no token: whoever starts it
  may ask everything.
`;
