/// What a commit waits for; the same for all.
public enum Durability: Sendable {
  /// On disk at return.
  case full
  /// The kernel has it at return: the end of the process loses nothing, a power cut may.
  case relaxed
}
