#if PostgreSQL
public import ModelRuntime

extension PostgresStore: RemoteSaveReporting {
  public func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? {
    // Nobody else can save while a migration goes on.
    if migration != nil { return nil }
    // From here on: what is saved before the watch has a session of its own counts, too.
    let newest = Statement("SELECT COALESCE(max(xid), 0) FROM \(name("_logstore_commit"))")
    return RemoteSaveWatch(
      RemoteSaveWatch.Target(
        url: configuration.url,
        channel: channel,
        commits: name("_logstore_commit"),
        source: source,
        after: (try? read([newest])[0].integer(0, 0)) ?? 0
      ),
      arrival
    )
  }
}
#endif
