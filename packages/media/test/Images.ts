/** Images for tests, good ones and forged ones. */
import { crc32, deflateSync } from "node:zlib"
import sharp, { type Sharp } from "sharp"

export type Format = "png" | "jpeg" | "webp"
export const formats: ReadonlyArray<Format> = ["png", "jpeg", "webp"]

/** An image with detail everywhere, so that no cut goes unnoticed. */
export const noise = (width: number, height: number) => {
  const pixels = Buffer.alloc(width * height * 3)
  let state = 1
  for (let i = 0; i < pixels.length; i++) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223
    pixels[i] = state >>> 24
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}

/** `noise` of 300 x 200 pixels in an encoding. */
const once = (encode: (image: Sharp) => Sharp) => {
  let encoded: Promise<Buffer> | undefined
  return () => encoded ??= encode(noise(300, 200)).toBuffer()
}

/** `noise` in every way of writing that differs to a decoder. Each is encoded once, since a palette takes long. */
export const variants: Readonly<Record<string, { readonly format: Format; readonly image: () => Promise<Buffer> }>> = {
  "png": { format: "png", image: once((image) => image.png()) },
  "interlaced png": { format: "png", image: once((image) => image.png({ progressive: true })) },
  "palette png": { format: "png", image: once((image) => image.png({ palette: true })) },
  "16-bit png": { format: "png", image: once((image) => image.toColourspace("rgb16").png()) },
  "jpeg": { format: "jpeg", image: once((image) => image.jpeg()) },
  "progressive jpeg": { format: "jpeg", image: once((image) => image.jpeg({ progressive: true })) },
  "cmyk jpeg": { format: "jpeg", image: once((image) => image.toColourspace("cmyk").jpeg()) },
  "webp": { format: "webp", image: once((image) => image.webp()) },
  "lossless webp": { format: "webp", image: once((image) => image.webp({ lossless: true })) }
}

/** Valid images of 61 x 37 pixels in rare encodings. */
export const odd: Readonly<Record<string, () => Promise<Buffer>>> = {
  "greyscale jpeg": () => noise(61, 37).greyscale().jpeg().toBuffer(),
  "progressive greyscale jpeg": () => noise(61, 37).greyscale().jpeg({ progressive: true }).toBuffer(),
  "jpeg without subsampling": () => noise(61, 37).jpeg({ chromaSubsampling: "4:4:4", quality: 100 }).toBuffer(),
  "jpeg with a profile and EXIF": () =>
    noise(61, 37).withIccProfile("p3").withExifMerge({ IFD0: { Artist: "at home" } }).jpeg().toBuffer(),
  "jpeg with bytes after its end": async () => Buffer.concat([await noise(61, 37).jpeg().toBuffer(), Buffer.alloc(50)]),
  "16-bit greyscale png": () => noise(61, 37).greyscale().toColourspace("grey16").png().toBuffer(),
  "1-bit png": async () => hollowPng(61, 37, deflateSync(Buffer.alloc(37 * (1 + Math.ceil(61 / 8))))),
  "webp with transparency": () => noise(61, 37).ensureAlpha(0.5).webp().toBuffer()
}

/** The marker at the end of a JPEG. */
export const jpegEnd = Buffer.from([0xff, 0xd9])

/** A PNG of one bit per pixel, all of it zero, that declares these sides. */
export const hollowPng = (width: number, height: number, rows: Buffer): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", rows),
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** A PNG that contains all the pixels that it declares, in a thousandth of their size. */
export const bombPng = (side: number): Buffer =>
  hollowPng(side, side, deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))), { level: 1 }))

/** The JPEG with other sides in its frame header. */
export const resizedJpegHeader = (jpeg: Buffer, width: number, height: number): Buffer => {
  const forged = Buffer.from(jpeg)
  const frame = forged.indexOf(Buffer.from([0xff, 0xc0]))
  forged.writeUInt16BE(height, frame + 5)
  forged.writeUInt16BE(width, frame + 7)
  return forged
}

/** The lossy WebP with other sides in its frame header. */
export const resizedWebpHeader = (webp: Buffer, width: number, height: number): Buffer => {
  const forged = Buffer.from(webp)
  const frame = forged.indexOf(Buffer.from([0x9d, 0x01, 0x2a]))
  forged.writeUInt16LE(width, frame + 3)
  forged.writeUInt16LE(height, frame + 5)
  return forged
}

/** Four colours, one in each quarter of 32 x 20 pixels, so that every rotation and reflection changes the image. */
export const quarters = (topLeft: string, topRight: string, bottomLeft: string, bottomRight: string) => {
  const place = (background: string, left: number, top: number) => ({
    input: { create: { width: 16, height: 10, channels: 3 as const, background } },
    left,
    top
  })
  return sharp({ create: { width: 32, height: 20, channels: 3, background: "black" } }).composite([
    place(topLeft, 0, 0),
    place(topRight, 16, 0),
    place(bottomLeft, 0, 10),
    place(bottomRight, 16, 10)
  ])
}

/** The image turned so that it is upright once its EXIF orientation, 1 to 8, is followed. */
export const turnedBack = async (upright: Buffer, orientation: number): Promise<Buffer> => {
  const [mirrored, angle] = inverses[orientation] ?? [false, 0]
  const turned = await sharp(upright).rotate(angle).png().toBuffer()
  return sharp(turned).flop(mirrored).withMetadata({ orientation }).png().toBuffer()
}

/** By orientation: what undoes it, first the turn and then the mirror. */
const inverses: Readonly<Record<number, readonly [mirrored: boolean, angle: number]>> = {
  1: [false, 0],
  2: [true, 0],
  3: [false, 180],
  4: [true, 180],
  5: [true, 90],
  6: [false, 270],
  7: [true, 270],
  8: [false, 90]
}

/** The PNG with a chunk before its pixels. */
export const withPngChunk = (png: Buffer, type: string, data: Buffer): Buffer =>
  Buffer.concat([png.subarray(0, 33), chunk(type, data), png.subarray(33)])

/** The JPEG with a comment after its first marker. */
export const withJpegComment = (jpeg: Buffer, data: Buffer): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(data.length + 2)
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe]), length, data, jpeg.subarray(2)])
}

const chunk = (type: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
