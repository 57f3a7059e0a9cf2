/** The values of keys that hold secrets, to be kept out of whatever is printed. */
export function secretsInEnv(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => (/__API_KEY$/i.test(name) ? [value, value.trim()] : []));
}
