/** Runs in the process of a server before its program, and returns the processor time of the process to the parent process. */
process.on("message", (message) => {
  if (message !== "processor") return
  const { system, user } = process.cpuUsage()
  process.send?.((user + system) / 1e6)
})
// The channel does not keep the server alive.
process.channel?.unref()
