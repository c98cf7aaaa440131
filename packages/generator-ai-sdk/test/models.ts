/** A module of an operator: an image model and a provider of it, without a network. */
import type { ImageModel } from "ai"

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** A model that returns one pixel. */
const painted: Exclude<ImageModel, string> = {
  specificationVersion: "v4",
  provider: "test",
  modelId: "painted",
  maxImagesPerCall: 1,
  doGenerate: () =>
    Promise.resolve({
      images: [pixel],
      warnings: [],
      response: { timestamp: new Date(0), modelId: "painted", headers: undefined }
    })
}

export default painted

export const provider = { imageModel: () => painted }

export const number = 1

export const failing = ({ apiKey }: { readonly apiKey: string }) => {
  throw new Error(`This is not a key: ${apiKey}`)
}
