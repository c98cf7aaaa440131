import { crc32, deflateSync } from "node:zlib"

/** Width and height in pixels. */
export const side = 256

/** Returns a PNG of a fabric. Bits of `pattern` decide which threads lie above. */
export const picture = ({ pattern, thread }: { readonly pattern: number; readonly thread: string }): Uint8Array => {
  const channel = ["red", "green", "blue"].indexOf(thread)
  // Each row starts with the number of its filter, which is 0.
  const rowLength = 1 + side * 3
  const rows = Buffer.alloc(side * rowLength)
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const over = (x >> 4) % 2 === ((y >> 4) + (pattern >> ((x >> 4) % 16)) % 2) % 2
      const light = 90 + 80 * Math.sin(((over ? x : y) % 16) * (Math.PI / 16))
      for (const color of [0, 1, 2]) rows[y * rowLength + 1 + x * 3 + color] = color === channel ? light + 80 : light
    }
  }
  const header = Buffer.from([0, 0, side >> 8, side & 255, 0, 0, side >> 8, side & 255, 8, 2, 0, 0, 0])
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0))
  ])
}

const chunk = (type: string, data: Uint8Array) => {
  const named = Buffer.concat([Buffer.from(type), data])
  return Buffer.concat([int32(data.length), named, int32(crc32(named))])
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
