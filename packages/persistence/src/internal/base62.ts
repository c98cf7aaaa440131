/** Base62 encoding: digits, upper-case letters, lower-case letters; most significant first. */

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Returns whether `text` contains only letters of the alphabet from `start` on. */
export const isBase62 = (text: string, start: number): boolean => {
  for (let index = start; index < text.length; index++) {
    if (!isLetter(text.charCodeAt(index))) return false
  }
  return true
}

/** Encodes a big-endian number, padded with zeros to `length` characters. */
export const fromBytes = (bytes: Uint8Array, length: number): string => {
  let rest = bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  let text = ""
  for (let place = 0; place < length; place++) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}

/** Encodes an unsigned 32-bit number, padded with zeros to `length` characters. */
export const fromUint32 = (value: number, length: number): string => {
  let rest = value
  let text = ""
  for (let place = 0; place < length; place++) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

const isLetter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
