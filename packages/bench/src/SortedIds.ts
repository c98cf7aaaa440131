/** Ids of rows that a benchmark inserts, in the order of their creation like those of the server. */

/** SQL expression for a UUID of version 7, from an expression for its time and one for a text of random hexadecimal digits. */
export const uuidInSql = (time: string, random: string): string =>
  `(lpad(to_hex((extract(epoch FROM ${time}) * 1000)::int8), 12, '0') || '7' || substr(${random}, 1, 3) || '8'
    || substr(${random}, 4, 15))::uuid`
