import { Kinora } from "@kinora/client"

/** Responds as a service whose jobs are already completed. Omit the option to call a real service. */
const fetch = async (url: string) =>
  url.endsWith("/generations") ? Response.json({ id: "gen_1", status: "completed" }) : new Response("a picture")

const kinora = new Kinora({ baseUrl: "http://127.0.0.1:4747", apiKey: null, fetch })
const { bytes, generation } = await kinora.generate({
  plan: "credits",
  model: "kinora-still",
  params: { prompt: "a lake", aspect_ratio: "16:9" }
})
console.log(generation.id, generation.status, (await bytes()).length)
// gen_1 completed 9
