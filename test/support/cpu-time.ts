/** What this process has computed so far, in ms: unlike the time, the same on a machine that others use. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
