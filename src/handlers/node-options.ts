/** Options of Node that a thread or a process has in common with this process. */

/** They are followed by a value of their own, unless it stands behind a `=`. */
const WITH_VALUE: readonly string[] = [
  '-e',
  '--eval',
  '-p',
  '--print',
  '-pe',
  '--input-type',
  '--experimental-default-type',
  '--run',
  '--inspect-port',
  '--debug-port',
  '--watch-path',
];

/** About the program that this process was started with: how it is read, watched, tested, debugged. */
const OWN_OPTION =
  /^(?:-[ecip]|-pe|--(?:eval|print|interactive|check|run|inspect|debug-port|watch|test|input-type|experimental-default-type|entry-url|experimental-entry-url|no-experimental-entry-url)(?:[-=].*)?)$/;

/**
 * Options that this process was started with, as loaders of TypeScript and limits of memory, without
 * those that are about its own program: a host has another one, and reads it in its own way.
 */
export function hostOptions(options: readonly string[]): readonly string[] {
  return options.filter((option, at) => {
    const isValue = at > 0 && WITH_VALUE.includes(options[at - 1] ?? '') && option[0] !== '-';
    return !isValue && !OWN_OPTION.test(option);
  });
}
