import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../text.js";
import type { Io } from "../io.js";

export function addCompletionCommand(program: Command, io: Io): void {
  program
    .command("completion")
    .argument("<shell>", Object.keys(scripts).join(", "))
    .summary("print a completion script for your shell")
    .description("Print a script that completes commands, flags and the ids of decisions.")
    .addHelpText(
      "after",
      `
Examples:
  $ source <(agent-33 completion bash)
  $ agent-33 completion zsh > "\${fpath[1]}/_agent-33"
  $ agent-33 completion fish > ~/.config/fish/completions/agent-33.fish`,
    )
    .action((shell: string) => {
      const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
      if (script === undefined) {
        throw new DecisionError("usage", `unknown shell \`${shell}\``, {
          hint: didYouMean(shell, Object.keys(scripts)) ?? "use bash, zsh or fish",
        });
      }
      io.out.write(script);
    });
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete } = await import("../complete.js");
      const found = await complete(program, words, io);
      io.out.write(found.map((word) => `${word}\n`).join(""));
    });
}

/** Each script passes the words after `agent-33`, including the incomplete last one, to `__complete`. */
const scripts: Readonly<Record<string, string>> = {
  bash: `# bash completion for agent-33
_agent_33() {
  local IFS=$'\\n'
  COMPREPLY=($(agent-33 __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _agent_33 agent-33
`,
  zsh: `#compdef agent-33
_agent_33() {
  local -a found
  found=("\${(@f)$(agent-33 __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -a found || _files
}
compdef _agent_33 agent-33
`,
  fish: `# fish completion for agent-33
function __agent_33_complete
  set -l words (commandline -opc) (commandline -ct)
  agent-33 __complete -- $words[2..-1] 2>/dev/null
end
complete -c agent-33 -f -a '(__agent_33_complete)'
`,
};
