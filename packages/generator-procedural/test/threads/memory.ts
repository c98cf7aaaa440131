/** A process for tests: draws a video and prints by how many bytes its resident memory grew after the first frames. */
import { drawClip } from "../../src/internal/clip/clip.ts"

const clip = { prompt: "bauhaus", key: "any", width: 480, height: 480, seconds: 6, references: [] }
let settled = 0
let most = 0

await drawClip(clip, null, (progress) => {
  const resident = process.memoryUsage.rss()
  if (progress <= 0.1) settled = resident
  most = Math.max(most, resident)
})
process.stdout.write(String(most - settled))
