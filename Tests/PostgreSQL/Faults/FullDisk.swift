import FaultProxy
import Foundation
import ModelRuntime
import PostgresStore

/// Fills the disk on which a server keeps the tables of a store, while something is saved; then gives it room.
struct FullDisk {
  private let seed: UInt64

  /// What came of it.
  struct Outcome {
    var savedCount = 0
    /// The error of the save for which there was no room.
    var refusal: (any Error)?
    var violations: [String] = []
  }

  init(seed: UInt64) { self.seed = seed }

  /// Whether this process may mount a disk of its own, which is in memory.
  static let isPossible: Bool = {
    let folder = "/tmp/logstore-disk-\(ProcessInfo.processInfo.processIdentifier)"
    guard getuid() == 0, mkdir(folder, 0o700) == 0 else { return false }
    defer { rmdir(folder) }
    guard mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0 else { return false }
    return umount(folder) == 0
  }()

  static let reason = "mounting a small disk takes root's rights"

  /// - Throws: What keeps the server, the disk or the store from being there.
  func run() throws -> Outcome {
    var outcome = Outcome()
    let server = try FaultyServer()
    defer { server.remove() }
    let disk = "\(server.folder)d"
    try call("mkdir", mkdir(disk, 0o700))
    defer { rmdir(disk) }
    // The server runs as nobody, and wants a folder of its own.
    let owner = getpwnam("nobody")?.pointee.pw_uid ?? 0
    try call("mount", mount("tmpfs", disk, "tmpfs", 0, "size=6m,mode=700,uid=\(owner)"))
    defer { umount2(disk, Int32(MNT_DETACH)) }
    try server.session().run("CREATE TABLESPACE small LOCATION '\(disk)'")
    let container = try ModelContainer(
      for: CampaignModels.schema,
      configurations: [
        PostgresStoreConfiguration(
          url: "\(server.url) options='-c default_tablespace=small'",
          namespace: "full"
        )
      ]
    )
    var random = SplitMix(seed)
    let context = ModelContext(container)
    // Random digits: what is like itself is compressed.
    func note() -> String {
      (0..<1500).map { _ in String(random.next(), radix: 16) }.joined()
    }
    while outcome.refusal == nil, outcome.savedCount < 10_000 {
      context.insert(Account("\(outcome.savedCount)", note: note()))
      do {
        try context.save()
        outcome.savedCount += 1
      } catch {
        outcome.refusal = error
      }
    }
    try check(outcome.savedCount, "while the disk is full", container, &outcome)
    guard case PostgresStoreError.server(let error)? = outcome.refusal, error.state == "53100"
    else {
      outcome.violations.append(
        "seed \(seed): expected the server's error 53100, found \(String(describing: outcome.refusal))"
      )
      return outcome
    }
    try call(
      "mount",
      mount("tmpfs", disk, "tmpfs", UInt(MS_REMOUNT), "size=64m,mode=700,uid=\(owner)")
    )
    // The same context has the change that was refused.
    try context.save()
    try check(outcome.savedCount + 1, "once there is room", container, &outcome)
    return outcome
  }

  private func check(
    _ count: Int,
    _ moment: String,
    _ container: ModelContainer,
    _ outcome: inout Outcome
  ) throws {
    let codes = try ModelContext(container).fetch(FetchDescriptor<Account>()).map(\.code)
    if codes.count != count || Set(codes) != Set((0..<count).map { "\($0)" }) {
      outcome.violations.append(
        "seed \(seed): expected \(count) accounts \(moment), found \(codes.count)"
      )
    }
  }

  private func call(_ name: String, _ status: Int32) throws {
    if status != 0 {
      throw FaultyServer.Failure(description: "\(name): \(String(cString: strerror(errno)))")
    }
  }
}
