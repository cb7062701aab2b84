"""gaoya: its own character analyzer and index, documents added and looked up in bulk on all cores."""

from common import clean, job, read_texts, write_outcome
from gaoya.minhash import MinHashStringIndex  # type: ignore[import-not-found]  # lives in the peer's own environment

# (bands, rows) of about 128 permutations by threshold; gaoya itself tests what it finds against the threshold.
BANDS = {0.5: (32, 4), 0.6: (25, 5), 0.7: (16, 8), 0.8: (14, 9), 0.9: (5, 25)}


def main() -> None:
    source, out, ngram, threshold, _num_perm = job()
    bands, rows = BANDS[threshold]
    texts = [clean(text) for text in read_texts(source)]
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=threshold,
        num_bands=bands,
        band_size=rows,
        analyzer="char",
        ngram_range=(ngram, ngram),
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    pairs = [(a, b) for b, found in enumerate(index.par_bulk_query(texts)) for a in found if a < b]
    write_outcome(out, len(texts), pairs)


if __name__ == "__main__":
    main()
