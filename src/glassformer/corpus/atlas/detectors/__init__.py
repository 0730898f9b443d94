"""Detectors: behaviours of heads that an atlas looks for. Each is a function in a file of this folder.

    @detector("previous_token", kinds=("self",), null="uniform", threshold=0.3, rank=30)
    def find_previous(view: View) -> Wanted:
        '''The token just before.'''
        return offset_mask(view, -1)

That is all a plug-in needs: where each query should look, as True in (query, key), or several such masks by
the name of a detail. The score of a head is the weight there, or the share of words whose favourite is there.
Its words are in the catalogues: atlases.detectors.NAME.
"""
