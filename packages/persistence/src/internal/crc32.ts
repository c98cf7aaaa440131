/** CRC-32 as in zip, gzip and PNG. Detects every change of up to 32 adjacent bits. */

const polynomial = 0xedb88320

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
  return value
})

/** Returns the unsigned checksum of ASCII text. */
export const crc32 = (text: string): number => {
  let value = 0xffffffff
  for (let index = 0; index < text.length; index++) {
    value = (value >>> 8) ^ (table[(value ^ text.charCodeAt(index)) & 0xff] ?? 0)
  }
  return (value ^ 0xffffffff) >>> 0
}
