/** A database's address to print: without its password, unless that is asked for. */
export function shownAddress(databaseUrl: string, showPassword: boolean): string {
  const url = new URL(databaseUrl);
  if (!showPassword && url.password !== '') url.password = '***';
  return url.href;
}
