/** Scripts that let a shell complete commands, options and their choices. */
import type { Command, Option } from 'commander';

/** Shells that there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** One of them. */
export type ShellName = (typeof SHELLS)[number];

/** One command with what may follow it. */
export interface Completion {
  /** Words after `fairloom`, as `tasks list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Named[];
  readonly options: readonly OptionWords[];
}

interface Named {
  readonly name: string;
  readonly help: string;
}

interface OptionWords {
  /** `--output` and, if it has one, `-o`. */
  readonly flags: readonly string[];
  readonly help: string;
  /** A word follows it. */
  readonly takesValue: boolean;
  /** That word is a path. */
  readonly takesFile: boolean;
  readonly choices: readonly string[];
}

/** The tree of a program's commands, flat; global options stand at every one. */
export function completionsOf(program: Command): readonly Completion[] {
  return below(program, '', program.options.map(optionWords));
}

/** A script for a shell to source. */
export function completionScript(shell: ShellName, completions: readonly Completion[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(completions);
    case 'zsh':
      return zshScript(completions);
    case 'fish':
      return fishScript(completions);
  }
}

function below(
  command: Command,
  path: string,
  globals: readonly OptionWords[],
): readonly Completion[] {
  const commands = command.commands.filter((one) => one.name() !== 'help');
  const own = path === '' ? [] : command.options.map(optionWords);
  return [
    {
      path,
      commands: commands.map((one) => ({ name: one.name(), help: one.description() })),
      options: [...own, ...globals],
    },
    ...commands.flatMap((one) => below(one, `${path} ${one.name()}`.trim(), globals)),
  ];
}

function optionWords({
  flags,
  short,
  long,
  description,
  required,
  optional,
  argChoices,
}: Option): OptionWords {
  return {
    flags: [long, short].flatMap((flag) => flag ?? []),
    help: description,
    takesValue: required || optional,
    takesFile: /<(?:file|folder|module)\b/.test(flags),
    choices: argChoices ?? [],
  };
}

/**
 * The part that bash and zsh share: walks the words before the cursor, keeps those that lead down
 * the tree, and skips options with their values; then says what may stand at the cursor.
 */
function walker(completions: readonly Completion[]): string {
  const paths = completions
    .map(({ path, commands, options }) => {
      const words = commands.length > 0 ? commands.map(({ name }) => name) : [];
      const flags = options.flatMap((option) => option.flags);
      return `    ${quoted(path)}) verbs=${quoted(words.join(' '))}; flags=${quoted(flags.join(' '))} ;;`;
    })
    .join('\n');
  const options = completions.flatMap((one) => one.options);
  const valued = unique(options.filter((one) => one.takesValue).flatMap(({ flags }) => flags));
  const files = unique(options.filter((one) => one.takesFile).flatMap(({ flags }) => flags));
  const choices = unique(
    options
      .filter((one) => one.choices.length > 0)
      .map(({ flags, choices: of }) => `    ${flags.join('|')}) values=${quoted(of.join(' '))} ;;`),
  ).join('\n');
  return `_fairloom_look() {
  local known=${quoted(` ${completions.map(({ path }) => path.replaceAll(' ', '/')).join(' ')} `)}
  local word at='' skip=''
  verbs='' flags='' values='' files='' nothing=''
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=''; continue; fi
    case "$word" in
      ${valued.join('|')}) skip="$word"; continue ;;
      -*) continue ;;
    esac
    case "$known" in
      *" \${at:+$at/}$word "*) at="\${at:+$at/}$word" ;;
    esac
  done
  case "$skip" in
${choices}
    ${files.join('|')}) files=1 ;;
    ?*) nothing=1 ;;
  esac
  [ -n "$skip" ] && return
  case "\${at//\\// }" in
${paths}
  esac
}`;
}

function bashScript(completions: readonly Completion[]): string {
  return `# fairloom completion for bash: eval "$(fairloom completion bash)"
${walker(completions)}
_fairloom() {
  local verbs flags values files nothing current="\${COMP_WORDS[COMP_CWORD]}"
  _fairloom_look "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=()
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [ -n "$files" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [ -n "$nothing" ]; then
    return
  elif [ "\${current#-}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ -n "$verbs" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _fairloom fairloom
`;
}

function zshScript(completions: readonly Completion[]): string {
  return `#compdef fairloom
# fairloom completion for zsh: source <(fairloom completion zsh)
${walker(completions)}
_fairloom() {
  local verbs flags values files nothing
  _fairloom_look "\${(@)words[2,CURRENT-1]}"
  if [[ -n "$values" ]]; then
    compadd -- \${=values}
  elif [[ -n "$nothing" ]]; then
    return
  elif [[ "$PREFIX" == -* ]]; then
    compadd -- \${=flags}
  elif [[ -n "$verbs" ]]; then
    compadd -- \${=verbs}
  else
    _files
  fi
}
compdef _fairloom fairloom
`;
}

function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, commands, options }) => {
    const words = path === '' ? [] : path.split(' ');
    const here = [
      ...words.map((word) => `__fish_seen_subcommand_from ${word}`),
      ...(commands.length > 0
        ? [`not __fish_seen_subcommand_from ${commands.map(({ name }) => name).join(' ')}`]
        : []),
    ].join('; and ');
    const condition = here === '' ? '' : ` -n ${quoted(here)}`;
    return [
      ...commands.map(
        ({ name, help }) => `complete -c fairloom${condition} -f -a ${name} -d ${quoted(help)}`,
      ),
      ...(path !== '' || commands.length > 0
        ? options.map((option) => `complete -c fairloom${condition}${fishOption(option)}`)
        : []),
    ];
  });
  return `# fairloom completion for fish: fairloom completion fish | source\n${lines.join('\n')}\n`;
}

function fishOption({ flags, help, takesValue, takesFile, choices }: OptionWords): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  const values = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : '';
  const value = takesValue && values === '' ? (takesFile ? ' -r' : ' -x') : values;
  return `${names.join('')}${value} -d ${quoted(help)}`;
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** For all three shells: nothing inside single quotes means anything but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
