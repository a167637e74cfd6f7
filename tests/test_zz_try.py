def test_try(call, service):
    a = call.note("The backup job of the orders database runs every night at two and writes to the cold bucket in Oslo")
    call.note("No, at four now", supersedes=[a])
    for q in ["when does the backup job of the orders database run", "backup job orders database", "The backup job of the orders database runs every night at two", "photosynthesis in algae"]:
        for f in ("keyword_only", "vector_only", "weighted"):
            r = call("memory.recall", query=q, explain=True, min_score=0, fusion=f)
            h = r["results"][0]; print(f, round(h["relevance"],3))
