/** Whether a text is the address of a server, and not the path of a program. */
export function isRedisUrl(text: string): boolean {
  return /^(rediss?|valkeys?):\/\//.test(text);
}
