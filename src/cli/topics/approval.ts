/** How definitions are approved, and what is refused where they must be. */
export const approvalTopic = (): string => `APPROVAL

  Who may change a file of definitions changes what is decided. Where approval is required, decisions are made
  only by definitions that somebody signed with a key that you trust.

    $ agent-33 decision keygen                                   once; prints the next line to type
    $ agent-33 decision config set trusted_keys ed25519:…        on every machine that decides
    $ agent-33 decision approve --all                            signs them as they are now
    $ agent-33 decision config set require_approval true         or --require-approval, or AGENT33_REQUIRE_APPROVAL

  A key that is elsewhere is made with --out FILE, and named with --key FILE.

THE LOCK
  \`decisions.lock\`, in the directory of definitions, is made to be committed with them. It holds one entry for
  each decision: its hash, the hash of the guardrails, targets and endpoints that bear on it, a serial that grows
  with every approval, and a signature. Its head is a signature over all of them, so none can be dropped.
  What was approved is kept in it, so that \`diff\` can show what changed.

    approved   it is, to the byte of its meaning, what was approved last; comments and layout may differ
    changed    it was approved, and it or what stands beside it is something else now
    retired    \`agent-33 decision retire ID --key FILE\` was the last that was said of it
               (approve --all leaves it so; \`approve ID\` approves it again)
    unknown    it was never approved, or the lock cannot be trusted

REFUSED (exit code 3)
  a decision that is not approved; an older form of it, also one that was approved once; any decision while the
  lock is forged, damaged, signed by a key that you do not trust, or older than, or another than, the one that
  was decided by or signed here. The store that you name remembers that by the lock's own id, wherever the lock
  lies; a project's settings cannot choose another store for it. If such a lock is meant after all,
  \`agent-33 decision approve --all --yes --key FILE\` signs all anew over it and says what it goes back over.
  A call is refused while any policy is not approved, or an approved one is missing; an action while an approved
  gate of it is missing. What is checked is the very value that is evaluated, so a file that is exchanged
  meanwhile makes no difference. A running stream (--inputs) keeps what it was opened with: start it again to
  decide by what was approved since.

KEYS
  trusted_keys counts in the user's settings only, as who can change a project's definitions could change its
  settings too; for the same reason a project can switch require_approval on but not off. Keys are separated by
  commas: \`ed25519:…\`, or paths of PEM files, whose keys \`config set\` keeps instead of the paths, so that who
  exchanges a file later changes nothing. (A path that was written into the settings by hand is read every time.)
  Where keys are trusted, approve and retire sign with no other.

  One key for each project: a lock of another project that the same key signed would count here too, and so would
  an earlier lock of this one that was removed to begin anew. To change keys:

    $ agent-33 decision config set trusted_keys ed25519:OLD,ed25519:NEW
    $ agent-33 decision approve --all --key NEW.pem              signs what is retired or missing too, as it is
    $ agent-33 decision config set trusted_keys ed25519:NEW

MERGES AND BRANCHES
  Two branches that both approved something conflict in the lock. Take the side with the higher serial in its
  head, as it is, and approve again what changed on the other:

    $ git checkout --theirs decisions/decisions.lock             or --ours
    $ agent-33 decision approve ID…

  Who switches to an older branch on a machine that decides is refused there, as its lock is an older one. Give
  each branch a store of its own (AGENT33_STORE), or decide without approval on that machine.

CI
  \`agent-33 decision list\` and \`show\` tell the state, \`validate\` warns of what is not as it was approved.

    $ agent-33 decision validate --require-approval              that is an error now: exit code 3
`;
