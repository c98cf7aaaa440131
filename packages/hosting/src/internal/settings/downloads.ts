/** Limits of downloads, from the settings. */
import type { Values } from "./definitions.ts"

/** Returns the limits of the downloads of an account and of a result. */
export const downloadLimitsOf = (values: Values) => ({
  downloadBytesPerDay: values.download_gib_per_day * 1024 ** 3,
  downloadLinkShare: values.download_link_percent / 100,
  resultDownloadMultiple: values.download_multiple,
  downloadStreamsMax: values.download_streams,
  downloadPicturesMax: values.download_pictures
})
