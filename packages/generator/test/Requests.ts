import type { GenerationRequest } from "../src/GenerationRequest.ts"

/** Returns a request for an image of a lake. */
export const request = (id: string, rest: Partial<GenerationRequest> = {}): GenerationRequest => ({
  id,
  model: { name: "any", options: {} },
  kind: "image",
  mode: "text_to_image",
  prompt: "a lake",
  params: {},
  images: [],
  format: "png",
  ...rest
})
