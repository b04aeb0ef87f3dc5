import LogEngine
import LogTools

/// Whether a frame is what was written, where it was written.
enum FrameState: String {
  case intact
  /// The header is right; the payload is not what it says.
  case damagedPayload = "damaged payload"
  /// It does not name the frame before it as its predecessor.
  case brokenChain = "broken chain"
  /// The segment's header is lost, and with it what a frame's checksum starts from.
  case unproven

  init(_ frame: FrameDescription) {
    self =
      if !frame.isIntact {
        .damagedPayload
      } else if !frame.isHeaderProven {
        .unproven
      } else if !frame.continuesChain {
        .brokenChain
      } else {
        .intact
      }
  }

  func words(of frame: FrameDescription) -> String {
    switch self {
    case .damagedPayload:
      "payload crc \(frame.foundPayloadChecksum.hexadecimal(8)), "
        + "expected \(frame.payloadChecksum.hexadecimal(8))"
    default: rawValue
    }
  }
}
