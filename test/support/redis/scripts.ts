/** Whether a command runs what this project has written in Lua: a function of the library, or a script. */
export function isScript(command = ''): boolean {
  return /^(?:fcall|eval|evalsha)$/i.test(command);
}
