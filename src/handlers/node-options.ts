/** Options of Node that threads and processes inherit from this process. */

/** Options with a separate value, unless it follows a `=`. */
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

/** Options for the main program of this process: how it is read, watched, tested, debugged. */
const OWN_OPTION =
  /^(?:-[ecip]|-pe|--(?:eval|print|interactive|check|run|inspect|debug-port|watch|test|input-type|experimental-default-type|entry-url|experimental-entry-url|no-experimental-entry-url)(?:[-=].*)?)$/;

/**
 * Options of this process for its hosts, such as loaders of TypeScript and limits of memory, without
 * those for its main program: a host has another one.
 */
export function hostOptions(options: readonly string[]): readonly string[] {
  return options.filter((option, at) => {
    const isValue = at > 0 && WITH_VALUE.includes(options[at - 1] ?? '') && option[0] !== '-';
    return !isValue && !OWN_OPTION.test(option);
  });
}
