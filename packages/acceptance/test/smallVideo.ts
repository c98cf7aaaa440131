/** A video of 1,000 bytes. */
import { Result } from "effect"
import { Base64 } from "effect/encoding"

/** One frame of H.264 of 16 x 16 pixels, made by `h264-mp4-encoder`. The last four bytes are the offset of the frame. */
const oneFrame = Buffer.from(Result.getOrThrow(Base64.decode(
  "AAAAGGZ0eXBtcDQyAAAAAG1wNDJpc29tAAAAEW1kYXQAAAAFZbgRRPAAAAJibW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAFfkAABX5AAAQAAAQAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAABhpb2RzAAAAABCAgIAHAE////9//wAAAdZ0cmFrAAAAXHRraGQAAAABAAAAAAAAAAAAAAABAAAAAAABX5AAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAABAAAAAQAAAAAAFybWRpYQAAACBtZGhkAAAAAAAAAAAAAAAAAAFfkAABX5BVxAAAAAAAIWhkbHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAAAAAAABKW1pbmYAAAAUdm1oZAAAAAEAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAOlzdGJsAAAAhXN0c2QAAAAAAAAAAQAAAHVhdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAABAAEABIAAAASAAAAAAAAAABDkpWVC9BVkMgQ29kaW5nAAAAAAAAAAAAAAAAAAAAAAAAGP//AAAAH2F2Y0MBQgAK/+EAB2dCAAqmnkABAAVozgOcgAAAABhzdHRzAAAAAAAAAAEAAAABAAFfkAAAABRzdHN6AAAAAAAAAAkAAAABAAAAHHN0c2MAAAAAAAAAAQAAAAEAAAABAAAAAQAAABRzdGNvAAAAAAAAAAEAAAAg"
)))

const fileTypeLength = 24
const filler = Buffer.alloc(1_000 - oneFrame.length)
filler.writeUInt32BE(filler.length)
filler.write("free", 4)
// Distinct bytes, so that a wrong range is noticed.
for (let n = 8; n < filler.length; n++) filler[n] = (n * 7 + (n >> 8)) % 251

const file = Buffer.concat([oneFrame.subarray(0, fileTypeLength), filler, oneFrame.subarray(fileTypeLength)])
file.writeUInt32BE(fileTypeLength + filler.length + 8, file.length - 4)

/** The MP4 file. */
export const bytes: Uint8Array = new Uint8Array(file)
