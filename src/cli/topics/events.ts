/** The manual of answering a stream of events. */
export function eventsTopic(): string {
  return `EVENTS

  evaluate, dry-run and gate answer a stream with --inputs -. Each line is JSON. It is answered, and its record
  is kept, as soon as it has come in; lines that come in faster are answered together.

    $ echo '{"artifact": {"type": "prompt"}}' | agent-33 decision evaluate decision-artifact-type-router --inputs -

  A line that cannot be answered becomes {"line", "error"} and the stream goes on. At the end of the stream the
  exit code is 0, or 1 where a line was bad. Ctrl-C (exit 130) and SIGTERM end it once what was read is answered
  and recorded; half a line is not. A second one ends it at once. A reader that goes away ends it quietly.

MAPS

  --map makes the context that a decision wants of the event that is there. It is a JSON object, or @file; all
  texts in it, however deep, are templates. The context that comes of it is the one that is recorded.

    $ echo '{"kind": "prompt", "by": {"name": "Ada"}}' | agent-33 decision evaluate decision-artifact-type-router --inputs - --map '{"artifact": {"type": "{{ kind }}", "author": "by {{ by.name }}"}}'

  "{{ kind }}"             alone keeps the type of its value: a number stays a number, a list a list
  "by {{ by.name }}"       within text it is rendered
  "{{ event }}"            the whole event, unless it has a key \`event\`; then that, and \`context\` is the whole
  "{{ exists(by) }}"       whether the event has it
  "{{ get(by, 'team', 'none') }}"               what stands there, or something else
  "{{ if exists(kind) then kind else 'none' }}"   the same of a key of the event

  Every key of the event can be read, also \`input\`, \`facts\` and \`system\`. An event that is no object is there
  as \`event\`. A map that cannot be understood is a wrong request (exit 2). An event that lacks what the map
  asks for makes its line {"line", "error"}; with --input it is a wrong request too.

  \`agent-33 help expressions\` has the language.
`;
}
