import { Argument, type Command } from 'commander';
import { completionScript, completionsOf, SHELLS, type ShellName } from '../terminal/completion.ts';
import type { Shell } from '../terminal/session.ts';

/** `fairloom completion <shell>` */
export function addCompletion(program: Command, shell: Shell): void {
  program
    .command('completion')
    .description('a script that completes commands and options in bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(SHELLS))
    .action((name: ShellName) => {
      shell.out.write(completionScript(name, completionsOf(program)));
    });
}
