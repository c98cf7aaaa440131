/** The job in the responses of the probes. */
export const jobOf = (id: string) => ({
  id,
  model: "kinora-draft",
  kind: "image",
  status: "queued",
  prompt: "a lake at dawn, mist between the hills",
  params: { aspect_ratio: "16:9" },
  created_at: "2026-01-01T00:00:00.000Z",
  next: { action: "poll", after_seconds: 1 }
})
